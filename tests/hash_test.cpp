#include "fuselage/core/hash.h"

#include <gtest/gtest.h>

namespace fuselage {
namespace {

// NIST, FIPS 180-4 examples and the CAVS short messages.
TEST(Sha256, KnownDigests) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(
      sha256_hex("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopq"
                 "rlmnopqrsmnopqrstnopqrstu"),
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(sha256_hex("\xbd"), "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b");
}

// Lengths around a block, in two pieces cut everywhere.
TEST(Sha256, PiecesDontMatter) {
  for (const std::size_t length : {1U, 55U, 56U, 57U, 63U, 64U, 65U, 119U, 120U, 128U}) {
    const std::string text(length, 'x');
    for (std::size_t cut = 0; cut <= length; ++cut) {
      Sha256 digest;
      digest.update(text.substr(0, cut));
      digest.update(text.substr(cut));
      EXPECT_EQ(digest.hex_digest(), sha256_hex(text)) << length << " bytes cut at " << cut;
    }
  }
}

}  // namespace
}  // namespace fuselage
