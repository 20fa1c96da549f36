CONSTANT = 7
def greet(x) { "hello-" + x }
