"""From files to passages: readers, cleaning, splitting, metadata, ledger, pipeline."""
