"""What a message costs, beside the same work straight on SQLite in the same run."""
