"use strict";

// Tabs: one panel for each architecture; without this script all panels are shown.
for (const list of document.querySelectorAll("[role=tablist]")) {
  const tabs = [...list.querySelectorAll("[role=tab]")];
  const choose = (chosen) => {
    for (const tab of tabs) {
      tab.setAttribute("aria-selected", String(tab === chosen));
      tab.tabIndex = tab === chosen ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = tab !== chosen;
    }
  };
  list.hidden = false;
  tabs.forEach((tab, i) => {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (event) => {
      const turn = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!turn) return;
      const next = tabs[(i + turn + tabs.length) % tabs.length];
      choose(next);
      next.focus();
    });
  });
  choose(tabs[0]);
}

// Examples: walk through the steps of a trace; the graph, or the prompt, and the text show what each step is about.
for (const example of document.querySelectorAll(".example")) {
  const steps = JSON.parse(example.querySelector("script[type='application/json']").textContent);
  const slider = example.querySelector("input[type=range]");
  const position = example.querySelector("output");
  const caption = example.querySelector(".caption");
  const box = example.querySelector(".text:not(.source)");
  const source = example.querySelector(".source");
  const tokens = [...example.querySelectorAll(".token")];
  const edges = [...example.querySelectorAll("line")];
  const vertices = [...example.querySelectorAll("g[data-vertex]")];
  const stretches = [...example.querySelectorAll(".step")];
  const inside = (range, i) => range !== null && range[0] <= i && i < range[1];

  const show = (number) => {
    const step = steps[number];
    const walked = new Set(steps.slice(0, number + 1).filter((s) => s.walked).map((s) => s.edge));
    stretches.forEach((element, i) => element.classList.toggle("about", i === number));
    tokens.forEach((element, i) => {
      element.classList.toggle("found", inside(step.found, i));
      element.classList.toggle("record", inside(step.record, i));
    });
    edges.forEach((element, i) => {
      element.classList.toggle("about", i === step.edge);
      element.classList.toggle("walked", walked.has(i));
    });
    vertices.forEach((element) => element.classList.toggle("about", step.vertices.includes(element.dataset.vertex)));
    const found = source?.querySelector(".token.found");
    if (found) source.scrollTo({ top: found.offsetTop - source.clientHeight / 2, behavior: "auto" });
    position.textContent = `${number + 1} of ${steps.length}`;
    caption.textContent = step.caption;
    if (step.pattern) {
      const pattern = document.createElement("code");
      pattern.textContent = step.pattern;
      caption.append(pattern);
    }
  };
  const goTo = (number) => {
    slider.value = Math.max(0, Math.min(steps.length - 1, number));
    show(Number(slider.value));
    const stretch = stretches[Number(slider.value)];
    const top = stretch.offsetTop - box.clientHeight / 2;
    box.scrollTo({ top, behavior: "auto" });
  };

  slider.addEventListener("input", () => goTo(Number(slider.value)));
  example.querySelector(".back").addEventListener("click", () => goTo(Number(slider.value) - 1));
  example.querySelector(".forward").addEventListener("click", () => goTo(Number(slider.value) + 1));
  stretches.forEach((element, i) => {
    element.addEventListener("mouseenter", () => show(i));
    element.addEventListener("mouseleave", () => show(Number(slider.value)));
    element.addEventListener("click", () => goTo(i));
  });
  if (steps.length) show(Number(slider.value));
}
