// softmax(q k^T / 8) v for 64 rows: two products on the cube, the softmax between them on its two
// vector cores. The scores and the weights cross through the workspace in global memory.
module {
  func.func @attention(
      %base: i64 {hacc.arg_type = #hacc.arg_type<ffts_base_address>},
      %space: memref<?xi8> {hacc.arg_type = #hacc.arg_type<workspace>},
      %q: memref<64x64xf16> {hacc.arg_type = #hacc.arg_type<input>, hacc.input_idx = #hacc.input_idx<0>},
      %k: memref<64x64xf16> {hacc.arg_type = #hacc.arg_type<input>, hacc.input_idx = #hacc.input_idx<1>},
      %v: memref<64x64xf16> {hacc.arg_type = #hacc.arg_type<input>, hacc.input_idx = #hacc.input_idx<2>},
      %o: memref<64x64xf32> {hacc.arg_type = #hacc.arg_type<output>, hacc.output_idx = #hacc.output_idx<0>})
      attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, mix_mode = "mix"} {
    %true = arith.constant true
    %n = arith.constant 64 : index
    %scale = arith.constant 0.125 : f32
    %ql = memref.alloc() : memref<64x64xf16>
    memref.copy %q, %ql : memref<64x64xf16> to memref<64x64xf16>
    %qt = bufferization.to_tensor %ql restrict writable : memref<64x64xf16>
    %kl = memref.alloc() : memref<64x64xf16>
    memref.copy %k, %kl : memref<64x64xf16> to memref<64x64xf16>
    %kt = bufferization.to_tensor %kl restrict writable : memref<64x64xf16>
    %vl = memref.alloc() : memref<64x64xf16>
    memref.copy %v, %vl : memref<64x64xf16> to memref<64x64xf16>
    %vt = bufferization.to_tensor %vl restrict writable : memref<64x64xf16>
    %wide = tensor.empty() : tensor<64x64xf32>
    %column = tensor.empty() : tensor<64x1xf32>
    %scores = hivm.hir.mmadL1 {b_transpose} ins(%qt, %kt, %true, %n, %n, %n : tensor<64x64xf16>, tensor<64x64xf16>, i1, index, index, index)
                              outs(%wide : tensor<64x64xf32>) -> tensor<64x64xf32>
    %scaled = hivm.hir.vmul ins(%scores, %scale : tensor<64x64xf32>, f32) outs(%wide : tensor<64x64xf32>) -> tensor<64x64xf32>
    %top = hivm.hir.vreduce <max> ins(%scaled : tensor<64x64xf32>) outs(%column : tensor<64x1xf32>) reduce_dims = [1] -> tensor<64x1xf32>
    %below = hivm.hir.vsub ins(%scaled, %top : tensor<64x64xf32>, tensor<64x1xf32>) outs(%wide : tensor<64x64xf32>) broadcast = [1] -> tensor<64x64xf32>
    %powers = hivm.hir.vexp ins(%below : tensor<64x64xf32>) outs(%wide : tensor<64x64xf32>) -> tensor<64x64xf32>
    %sum = hivm.hir.vreduce <sum> ins(%powers : tensor<64x64xf32>) outs(%column : tensor<64x1xf32>) reduce_dims = [1] -> tensor<64x1xf32>
    %shares = hivm.hir.vdiv ins(%powers, %sum : tensor<64x64xf32>, tensor<64x1xf32>) outs(%wide : tensor<64x64xf32>) broadcast = [1] -> tensor<64x64xf32>
    %half = tensor.empty() : tensor<64x64xf16>
    %weights = hivm.hir.vcast ins(%shares : tensor<64x64xf32>) outs(%half : tensor<64x64xf16>) -> tensor<64x64xf16>
    %r = hivm.hir.mmadL1 ins(%weights, %vt, %true, %n, %n, %n : tensor<64x64xf16>, tensor<64x64xf16>, i1, index, index, index)
                         outs(%wide : tensor<64x64xf32>) -> tensor<64x64xf32>
    bufferization.materialize_in_destination %r in writable %o : (tensor<64x64xf32>, memref<64x64xf32>) -> ()
    return
  }
}
