// The sum of two arrays of halves: explicit loads, one vector instruction, an explicit store.
// Where the buffers lie in UB and which flags order the pipes is the compiler's work.
module {
  func.func @vector_add(
      %a: memref<64x256xf16, #hivm.address_space<gm>> {hacc.arg_type = #hacc.arg_type<input>, hacc.input_idx = #hacc.input_idx<0>},
      %b: memref<64x256xf16, #hivm.address_space<gm>> {hacc.arg_type = #hacc.arg_type<input>, hacc.input_idx = #hacc.input_idx<1>},
      %o: memref<64x256xf16, #hivm.address_space<gm>> {hacc.arg_type = #hacc.arg_type<output>, hacc.output_idx = #hacc.output_idx<0>})
      attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>} {
    %x = memref.alloc() : memref<64x256xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%a : memref<64x256xf16, #hivm.address_space<gm>>)
                  outs(%x : memref<64x256xf16, #hivm.address_space<ub>>)
    %y = memref.alloc() : memref<64x256xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%b : memref<64x256xf16, #hivm.address_space<gm>>)
                  outs(%y : memref<64x256xf16, #hivm.address_space<ub>>)
    %z = memref.alloc() : memref<64x256xf16, #hivm.address_space<ub>>
    hivm.hir.vadd ins(%x, %y : memref<64x256xf16, #hivm.address_space<ub>>, memref<64x256xf16, #hivm.address_space<ub>>)
                  outs(%z : memref<64x256xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%z : memref<64x256xf16, #hivm.address_space<ub>>)
                   outs(%o : memref<64x256xf16, #hivm.address_space<gm>>)
    return
  }
}
