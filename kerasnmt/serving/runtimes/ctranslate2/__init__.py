"""CTranslate2, which runs Transformers fast on CPUs."""
