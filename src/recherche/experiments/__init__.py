"""From a configuration to a folder of results: cells, grids, presets, trained runs."""
