"""Vetro from Python. `vetro.torch` captures a PyTorch model's values under Vetro's names."""
