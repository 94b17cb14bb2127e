"""The judge: a model that grades what no assertion can, and its agreement with people."""
