"""The table, the puck, the arm and its controller. Knows nothing of shots, blackouts or learning."""
