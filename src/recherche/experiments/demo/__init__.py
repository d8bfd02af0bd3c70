"""The demonstration: from nothing to language models that search, on two cores in half an hour."""
