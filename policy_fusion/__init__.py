"""policy-fusion: multi-index fusion for Chinese policy look-up."""
