"""DreamerV3 in JAX: learn a world model from experience, and behaviour inside the world model.

Read in this order: config, nets, twohot, latents, recurrent, scan, heads, model (the networks); world, imagination,
returns, behaviour, optimizer, update (one gradient step); replay, selectors, schedule, stream, agent, trainer,
checkpoint (the run).
"""
