def twice(x) { x * 2 }
return twice("ab") + '${v}'
