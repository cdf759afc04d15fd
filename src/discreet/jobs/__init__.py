"""Long work made durable: request, state, progress, checkpoint and result of each job, in files of its folder."""
