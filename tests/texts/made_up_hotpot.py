"""A small file in the format of hotpot_dev_distractor_v1.json: invented painters, towns and rivers."""

import json
import random
from pathlib import Path
from typing import Any


def names(text: str) -> list[str]:
    return text.split(", ")


PEOPLE = names(
    "Ada Berg, Bo Lind, Cato Falk, Dina Moe, Eirik Vang, Frida Holt, Geir Dahl, Hedda Ness, Ivar Lund, Jorunn Eide, "
    "Kaja Strand, Leif Haug, Maren Bakke, Nils Foss, Oda Krogh, Per Sunde, Runa Tveit, Sigrid Aas, Tor Myhre, "
    "Unni Lien, Vidar Rosten, Wenche Garli, Yngve Solli, Zara Opdal"
)
TOWNS = names(
    "Altvik, Bremso, Cedervik, Dalhavn, Elvestad, Fagernes, Grimstad, Hellevik, Isfjorden, Jarlso, Kvitnes, Lurvik, "
    "Mosbu, Nordly, Orvika, Perstad, Quistad, Rognes, Skaret, Tangen, Ulvoy, Vestby, Wessel, Ytterholm"
)
RIVERS = names("Lune, Arva, Brenta, Corra, Drina, Esk")
Entry = dict[str, Any]


def person_paragraph(i: int) -> list[Any]:
    return [
        PEOPLE[i],
        [
            f"{PEOPLE[i]} is a painter of ships.",
            f" {PEOPLE[i]} was born in {TOWNS[i]} in {1900 + i % 3}.",
            " The pictures are small.",
        ],
    ]


def town_paragraph(i: int) -> list[Any]:
    return [TOWNS[i], [f"{TOWNS[i]} is a town on the river {RIVERS[i % len(RIVERS)]}.", f" Snow fell there {i} times."]]


def bridge(i: int, rng: random.Random) -> Entry:
    """On which river is the town where somebody was born?"""
    others = rng.sample([j for j in range(len(PEOPLE)) if j != i], 8)
    context = [person_paragraph(i), town_paragraph(i)]
    context += [person_paragraph(j) if rng.random() < 0.5 else town_paragraph(j) for j in others]
    rng.shuffle(context)
    return {
        "_id": f"5a{i:022x}",
        "question": f"On which river is the town where {PEOPLE[i]} was born?",
        "answer": RIVERS[i % len(RIVERS)],
        "type": "bridge",
        "level": "hard",
        "supporting_facts": [[TOWNS[i], 0], [PEOPLE[i], 1]],
        "context": context,
    }


def comparison(i: int, rng: random.Random) -> Entry:
    """Were two people born in the same year?"""
    k = (i + 1) % len(PEOPLE)
    others = rng.sample([j for j in range(len(PEOPLE)) if j not in (i, k)], 8)
    context = [person_paragraph(j) for j in (i, k, *others)]
    rng.shuffle(context)
    return {
        "_id": f"5b{i:022x}",
        "question": f"Were {PEOPLE[i]} and {PEOPLE[k]} born in the same year?",
        "answer": "yes" if i % 3 == k % 3 else "no",
        "type": "comparison",
        "level": "easy",
        "supporting_facts": [[PEOPLE[i], 1], [PEOPLE[k], 1]],
        "context": context,
    }


def entries(num: int = len(PEOPLE)) -> list[Entry]:
    """Questions, every fourth of which compares."""
    rng = random.Random(5)
    return [(comparison if i % 4 == 3 else bridge)(i, rng) for i in range(num)]


def write_hotpot(path: Path, made: list[Entry] | None = None) -> Path:
    """Write the file and return its path."""
    path.write_text(json.dumps(entries() if made is None else made), encoding="utf-8")
    return path
