"""The kit of live views: controls, pictures, questions. It knows no page and no model."""
