"""Another identity's attributes, put into a call or beside the token of its request."""
