"""Every request: who may ask, how a refusal is told, and how long its work goes on."""
