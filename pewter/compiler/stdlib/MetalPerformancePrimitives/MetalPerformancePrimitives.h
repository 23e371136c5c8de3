// Metal Performance Primitives work on the tensors of Metal 4: not supported.
#error Metal Performance Primitives are not supported: compile without them, as for a device without matrix units
