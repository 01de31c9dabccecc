"""Statistical problems: how one record is encoded, and what exact totals mean."""
