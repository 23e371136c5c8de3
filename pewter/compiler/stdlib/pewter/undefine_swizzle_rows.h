// Forgets the row macros of swizzles.def. Included once for each kind of vector, so without an include guard.
#undef __pw_part
#undef __pw_swizzle
#undef __pw_swizzle2
#undef __pw_swizzle3
#undef __pw_swizzle4
#undef __pw_lvalue
#undef __pw_lvalue2
#undef __pw_lvalue3
#undef __pw_lvalue4
