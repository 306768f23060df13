// Adds the squares of 1024 numbers of each of several blocks into one array of 256, with atomic
// stores: the blocks need no order.
module {
  func.func @accumulate(
      %a: memref<4096xf32, #hivm.address_space<gm>> {hacc.arg_type = #hacc.arg_type<input>, hacc.input_idx = #hacc.input_idx<0>},
      %o: memref<256xf32, #hivm.address_space<gm>> {hacc.arg_type = #hacc.arg_type<output>, hacc.output_idx = #hacc.output_idx<0>})
      attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 4 : i64} {
    %c0 = arith.constant 0 : index
    %c256 = arith.constant 256 : index
    %c1024 = arith.constant 1024 : index
    %number = hivm.hir.get_block_idx -> i64
    %block = arith.index_cast %number : i64 to index
    %first = arith.muli %block, %c1024 : index
    scf.for %i = %c0 to %c1024 step %c256 {
      %at = arith.addi %first, %i : index
      %part = memref.subview %a[%at] [256] [1] : memref<4096xf32, #hivm.address_space<gm>> to memref<256xf32, strided<[1], offset: ?>, #hivm.address_space<gm>>
      %x = memref.alloc() : memref<256xf32, #hivm.address_space<ub>>
      hivm.hir.load ins(%part : memref<256xf32, strided<[1], offset: ?>, #hivm.address_space<gm>>)
                    outs(%x : memref<256xf32, #hivm.address_space<ub>>)
      %y = memref.alloc() : memref<256xf32, #hivm.address_space<ub>>
      hivm.hir.vmul ins(%x, %x : memref<256xf32, #hivm.address_space<ub>>, memref<256xf32, #hivm.address_space<ub>>)
                    outs(%y : memref<256xf32, #hivm.address_space<ub>>)
      hivm.hir.store ins(%y : memref<256xf32, #hivm.address_space<ub>>)
                     outs(%o : memref<256xf32, #hivm.address_space<gm>>) atomic = <add>
    }
    return
  }
}
