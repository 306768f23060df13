"""Recurrent networks, sequence losses, margin losses and special dropout."""
