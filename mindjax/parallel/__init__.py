"""Programs on several devices (``mindspore.parallel``); in a world of one, its settings."""
