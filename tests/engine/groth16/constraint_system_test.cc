#include "engine/groth16/constraint_system.h"

#include "gtest/gtest.h"
#include "tests/engine/groth16/circuits.h"

namespace proofmill::engine {
namespace {

TEST(R1csConstraintsTest, GivesTheRowsOfTheSystem) {
  const TestCircuit circuit = OddTerms();
  const R1cs r1cs = circuit.ToR1cs();
  const R1csConstraints system(r1cs);
  EXPECT_EQ(system.n_wires(), circuit.n_wires);
  EXPECT_EQ(system.n_public(), circuit.n_public);
  ASSERT_EQ(system.n_constraints(), circuit.constraints.size());

  ConstraintRow row;
  for (uint32_t i = 0; i < system.n_constraints(); ++i) {
    system.Row(i, row);
    ASSERT_EQ(row.a.size(), circuit.constraints[i].a.size());
    ASSERT_EQ(row.b.size(), circuit.constraints[i].b.size());
    ASSERT_EQ(row.c.size(), circuit.constraints[i].c.size());
    for (size_t k = 0; k < row.a.size(); ++k) {
      EXPECT_EQ(row.a[k].wire, circuit.constraints[i].a[k].wire);
      EXPECT_EQ(row.a[k].value, FieldElement(circuit.constraints[i].a[k].factor));
    }
  }
}

}  // namespace
}  // namespace proofmill::engine
