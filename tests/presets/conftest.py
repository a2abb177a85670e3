from tests.models.conftest import make_model, make_shared_model, make_text_model, model

__all__ = ["make_model", "make_shared_model", "make_text_model", "model"]
