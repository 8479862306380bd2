-- Requests of URLSession: one record for each task, with the times of its phases, sizes, status, error.
patch { id = "preset.foundation.network", api = 1, permissions = { "network" } }
network { optional = true }
