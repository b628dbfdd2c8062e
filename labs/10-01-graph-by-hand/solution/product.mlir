// C = B * A^T.
vetro.weight @A : tensor<4x2xf32>

func.func @product(%b: tensor<3x2xf32> {vetro.input = "B"}) -> tensor<3x4xf32> {
  %a = vetro.get_weight @A : tensor<4x2xf32>
  %c = vetro.matmul %b, %a : (tensor<3x2xf32>, tensor<4x2xf32>) -> tensor<3x4xf32> loc("C")
  return %c : tensor<3x4xf32>
}
