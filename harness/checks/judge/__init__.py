"""The judge: a configured model that grades what no assertion can, and how well it agrees with people."""
