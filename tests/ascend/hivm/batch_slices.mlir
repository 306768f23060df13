module {
  func.func @batch_slices(%lock: memref<?xi8> {hacc.arg_type = #hacc.arg_type<sync_block_lock>}, %work: memref<?xi8> {hacc.arg_type = #hacc.arg_type<workspace>}, %in0: memref<2x64x64xf16> {hacc.arg_type = #hacc.arg_type<input>, hacc.input_idx = #hacc.input_idx<0>}, %in1: memref<2x64x64xf16> {hacc.arg_type = #hacc.arg_type<input>, hacc.input_idx = #hacc.input_idx<1>}, %out0: memref<2x64x64xf16> {hacc.arg_type = #hacc.arg_type<output>, hacc.output_idx = #hacc.output_idx<0>}, %grid0: i32, %grid1: i32, %grid2: i32, %grid3: i32, %grid4: i32, %grid5: i32) attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, mix_mode = "mix", global_kernel = "local"} {
    %local0 = memref.alloc() : memref<2x64x64xf16>
    memref.copy %in0, %local0 : memref<2x64x64xf16> to memref<2x64x64xf16>
    %arg0 = bufferization.to_tensor %local0 restrict writable : memref<2x64x64xf16>
    %local1 = memref.alloc() : memref<2x64x64xf16>
    memref.copy %in1, %local1 : memref<2x64x64xf16> to memref<2x64x64xf16>
    %arg1 = bufferization.to_tensor %local1 restrict writable : memref<2x64x64xf16>
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<128x64xf32>
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<2x64x64xf16> into tensor<128x64xf16>
    %collapsed_0 = tensor.collapse_shape %arg1 [[0, 1], [2]] : tensor<2x64x64xf16> into tensor<128x64xf16>
    %extracted_slice = tensor.extract_slice %collapsed[0, 0] [64, 64] [1, 1] : tensor<128x64xf16> to tensor<64x64xf16>
    %extracted_slice_1 = tensor.extract_slice %collapsed_0[0, 0] [64, 64] [1, 1] : tensor<128x64xf16> to tensor<64x64xf16>
    %1 = tensor.empty() : tensor<64x64xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %3 = linalg.matmul ins(%extracted_slice, %extracted_slice_1 : tensor<64x64xf16>, tensor<64x64xf16>) outs(%2 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %inserted_slice = tensor.insert_slice %3 into %0[0, 0] [64, 64] [1, 1] : tensor<64x64xf32> into tensor<128x64xf32>
    %extracted_slice_2 = tensor.extract_slice %collapsed[64, 0] [64, 64] [1, 1] : tensor<128x64xf16> to tensor<64x64xf16>
    %extracted_slice_3 = tensor.extract_slice %collapsed_0[64, 0] [64, 64] [1, 1] : tensor<128x64xf16> to tensor<64x64xf16>
    %4 = linalg.matmul ins(%extracted_slice_2, %extracted_slice_3 : tensor<64x64xf16>, tensor<64x64xf16>) outs(%2 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %inserted_slice_4 = tensor.insert_slice %4 into %inserted_slice[64, 0] [64, 64] [1, 1] : tensor<64x64xf32> into tensor<128x64xf32>
    %expanded = tensor.expand_shape %inserted_slice_4 [[0, 1], [2]] output_shape [2, 64, 64] : tensor<128x64xf32> into tensor<2x64x64xf32>
    %5 = arith.truncf %expanded : tensor<2x64x64xf32> to tensor<2x64x64xf16>
    bufferization.materialize_in_destination %5 in writable %out0 : (tensor<2x64x64xf16>, memref<2x64x64xf16>) -> ()
    return
  }
}
