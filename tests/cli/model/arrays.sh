cp "$SHERD_SOURCE"/tests/corpus/nd4j_array/{y_fortran,y_empty,n_trailing,n_type}.bin .
sherd info y_fortran.bin
sherd info --json y_fortran.bin
sherd cat y_fortran.bin
sherd verify y_empty.bin
sherd convert y_fortran.bin a.npy && sherd cat a.npy
sherd verify n_trailing.bin n_type.bin
sherd model graph y_fortran.bin
