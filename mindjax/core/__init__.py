"""The foundation: handles, state, primitives, dispatch, dtypes, context. It rests on jax."""
