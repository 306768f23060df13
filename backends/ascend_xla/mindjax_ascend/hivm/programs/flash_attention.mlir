// softmax(q k^T / 8) v by blocks of 64 keys, with a running maximum and sum: the scores of one block
// of keys at a time exist. Each block of the launch has 64 rows of q. Linalg on tensors with explicit
// copies, the form that the compiler takes from Triton; %g3 is the index of the block.
module {
  func.func @flash_attention(%lock: memref<?xi8> {hacc.arg_type = #hacc.arg_type<sync_block_lock>}, %work: memref<?xi8> {hacc.arg_type = #hacc.arg_type<workspace>},
      %q: memref<128x64xf16> {hacc.arg_type = #hacc.arg_type<input>, hacc.input_idx = #hacc.input_idx<0>}, %k: memref<256x64xf16> {hacc.arg_type = #hacc.arg_type<input>, hacc.input_idx = #hacc.input_idx<1>}, %v: memref<256x64xf16> {hacc.arg_type = #hacc.arg_type<input>, hacc.input_idx = #hacc.input_idx<2>},
      %o: memref<128x64xf32> {hacc.arg_type = #hacc.arg_type<output>, hacc.output_idx = #hacc.output_idx<0>}, %g0: i32, %g1: i32, %g2: i32, %g3: i32, %g4: i32, %g5: i32)
      attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, mix_mode = "mix", global_kernel = "local"} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    %low = arith.constant -1.0e30 : f32
    %zero = arith.constant 0.0 : f32
    %scale = arith.constant dense<0.125> : tensor<64x64xf32>
    %block = arith.index_cast %g3 : i32 to index
    %first = arith.muli %block, %c64 : index
    %qs = memref.subview %q[%first, 0] [64, 64] [1, 1] : memref<128x64xf16> to memref<64x64xf16, strided<[64, 1], offset: ?>>
    %ql = memref.alloc() : memref<64x64xf16>
    memref.copy %qs, %ql : memref<64x64xf16, strided<[64, 1], offset: ?>> to memref<64x64xf16>
    %qt = bufferization.to_tensor %ql restrict writable : memref<64x64xf16>
    %e = tensor.empty() : tensor<64x64xf32>
    %ev = tensor.empty() : tensor<64xf32>
    %eh = tensor.empty() : tensor<64x64xf16>
    %acc0 = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %m0 = linalg.fill ins(%low : f32) outs(%ev : tensor<64xf32>) -> tensor<64xf32>
    %l0 = linalg.fill ins(%zero : f32) outs(%ev : tensor<64xf32>) -> tensor<64xf32>
    %res:3 = scf.for %i = %c0 to %c256 step %c64 iter_args(%acc = %acc0, %m = %m0, %l = %l0) -> (tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>) {
      %ks = memref.subview %k[%i, 0] [64, 64] [1, 1] : memref<256x64xf16> to memref<64x64xf16, strided<[64, 1], offset: ?>>
      %kl = memref.alloc() : memref<64x64xf16>
      memref.copy %ks, %kl : memref<64x64xf16, strided<[64, 1], offset: ?>> to memref<64x64xf16>
      %kt = bufferization.to_tensor %kl restrict writable : memref<64x64xf16>
      %vs = memref.subview %v[%i, 0] [64, 64] [1, 1] : memref<256x64xf16> to memref<64x64xf16, strided<[64, 1], offset: ?>>
      %vl = memref.alloc() : memref<64x64xf16>
      memref.copy %vs, %vl : memref<64x64xf16, strided<[64, 1], offset: ?>> to memref<64x64xf16>
      %vt = bufferization.to_tensor %vl restrict writable : memref<64x64xf16>
      %kT = linalg.transpose ins(%kt : tensor<64x64xf16>) outs(%eh : tensor<64x64xf16>) permutation = [1, 0]
      %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
      %s0 = linalg.matmul ins(%qt, %kT : tensor<64x64xf16>, tensor<64x64xf16>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
      %s = arith.mulf %s0, %scale : tensor<64x64xf32>
      %f1 = linalg.fill ins(%low : f32) outs(%ev : tensor<64xf32>) -> tensor<64xf32>
      %mx = linalg.reduce { arith.maximumf } ins(%s : tensor<64x64xf32>) outs(%f1 : tensor<64xf32>) dimensions = [1]
      %mn = arith.maximumf %m, %mx : tensor<64xf32>
      %mb = linalg.broadcast ins(%mn : tensor<64xf32>) outs(%e : tensor<64x64xf32>) dimensions = [1]
      %d = arith.subf %s, %mb : tensor<64x64xf32>
      %p = math.exp %d : tensor<64x64xf32>
      %f2 = linalg.fill ins(%zero : f32) outs(%ev : tensor<64xf32>) -> tensor<64xf32>
      %sum = linalg.reduce { arith.addf } ins(%p : tensor<64x64xf32>) outs(%f2 : tensor<64xf32>) dimensions = [1]
      %dm = arith.subf %m, %mn : tensor<64xf32>
      %al = math.exp %dm : tensor<64xf32>
      %la = arith.mulf %l, %al : tensor<64xf32>
      %ln = arith.addf %la, %sum : tensor<64xf32>
      %ph = arith.truncf %p : tensor<64x64xf32> to tensor<64x64xf16>
      %pv = linalg.matmul ins(%ph, %vt : tensor<64x64xf16>, tensor<64x64xf16>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
      %ab = linalg.broadcast ins(%al : tensor<64xf32>) outs(%e : tensor<64x64xf32>) dimensions = [1]
      %as = arith.mulf %acc, %ab : tensor<64x64xf32>
      %an = arith.addf %as, %pv : tensor<64x64xf32>
      scf.yield %an, %mn, %ln : tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>
    }
    %lb = linalg.broadcast ins(%res#2 : tensor<64xf32>) outs(%e : tensor<64x64xf32>) dimensions = [1]
    %r = arith.divf %res#0, %lb : tensor<64x64xf32>
    %os = memref.subview %o[%first, 0] [64, 64] [1, 1] : memref<128x64xf32> to memref<64x64xf32, strided<[64, 1], offset: ?>>
    bufferization.materialize_in_destination %r in writable %os : (tensor<64x64xf32>, memref<64x64xf32, strided<[64, 1], offset: ?>>) -> ()
    return
  }
}
