"""How arrays become pictures. Views know no model and do no model arithmetic."""
