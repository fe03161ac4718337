/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Names of apps as hashes. */

#include "check.h"
#include "shared/name-hash.h"

int main(void)
{
        char hash[NAME_HASH_SIZE], again[NAME_HASH_SIZE], digits[65];

        /* printf joulecast-app:firefox | sha256sum */
        name_hash_of("firefox", hash);
        check_text(hash, "h:ed3df99515cd39067fb9f8e18858461b");
        check(name_hash_is(hash) && !name_hash_is("firefox") && !name_hash_is("h:") &&
              !name_hash_is("h:ABCDEF00000000000000000000000000"));
        name_hash_of(hash, again);
        check_text(again, hash);
        check_int(name_hash_number("firefox"), name_hash_number(hash));
        check(name_hash_number("firefox") != name_hash_number("Firefox") && name_hash_number("firefox") > 0);
        check(name_hash_number_of("client:", "a") != name_hash_number_of("client:", "b"));
        /* printf abc | sha256sum: the example of FIPS 180-4 */
        name_hash_digits("abc", digits);
        check_text(digits, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        return check_result();
}
