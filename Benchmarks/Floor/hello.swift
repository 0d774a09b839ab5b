// The least that a Swift program takes to start.
print("hello")
