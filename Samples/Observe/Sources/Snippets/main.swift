// Compiled, not run: the functions of the other files watch and serve what is not here.
print("snippets: compiled")
