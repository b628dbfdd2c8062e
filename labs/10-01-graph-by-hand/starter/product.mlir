// C = B * A^T. Replace each ____: shapes such as 5x7, and which operand goes where.
vetro.weight @A : tensor<____xf32>

func.func @product(%b: tensor<____xf32> {vetro.input = "B"}) -> tensor<____xf32> {
  %a = vetro.get_weight @A : tensor<____xf32>
  %c = vetro.matmul ____, ____ : (tensor<____xf32>, tensor<____xf32>) -> tensor<____xf32> loc("C")
  return %c : tensor<____xf32>
}
