// A product of halves on the cube, summed in single precision: GM to L1, L1 to L0, L0C to GM.
module {
  func.func @matmul(
      %a: memref<64x128xf16> {hacc.arg_type = #hacc.arg_type<input>, hacc.input_idx = #hacc.input_idx<0>},
      %b: memref<128x256xf16> {hacc.arg_type = #hacc.arg_type<input>, hacc.input_idx = #hacc.input_idx<1>},
      %o: memref<64x256xf32> {hacc.arg_type = #hacc.arg_type<output>, hacc.output_idx = #hacc.output_idx<0>})
      attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>} {
    %true = arith.constant true
    %m = arith.constant 64 : index
    %k = arith.constant 128 : index
    %n = arith.constant 256 : index
    %x = memref.alloc() : memref<64x128xf16>
    memref.copy %a, %x : memref<64x128xf16> to memref<64x128xf16>
    %xt = bufferization.to_tensor %x restrict writable : memref<64x128xf16>
    %y = memref.alloc() : memref<128x256xf16>
    memref.copy %b, %y : memref<128x256xf16> to memref<128x256xf16>
    %yt = bufferization.to_tensor %y restrict writable : memref<128x256xf16>
    %z = tensor.empty() : tensor<64x256xf32>
    %r = hivm.hir.mmadL1 ins(%xt, %yt, %true, %m, %k, %n : tensor<64x128xf16>, tensor<128x256xf16>, i1, index, index, index)
                         outs(%z : tensor<64x256xf32>) -> tensor<64x256xf32>
    bufferization.materialize_in_destination %r in writable %o : (tensor<64x256xf32>, memref<64x256xf32>) -> ()
    return
  }
}
