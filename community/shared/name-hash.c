/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <nettle/base16.h>
#include <nettle/sha2.h>
#include <string.h>

#include "name-hash.h"

#define KIND "joulecast-app:"
#define DIGITS (NAME_HASH_SIZE - 3)

static void digest_of(const char *kind, const char *text, uint8_t ret[SHA256_DIGEST_SIZE])
{
        struct sha256_ctx context;

        sha256_init(&context);
        sha256_update(&context, strlen(kind), (const uint8_t *)kind);
        sha256_update(&context, strlen(text), (const uint8_t *)text);
        sha256_digest(&context, SHA256_DIGEST_SIZE, ret);
}

bool name_hash_is(const char *name)
{
        return strncmp(name, "h:", 2) == 0 && strlen(name) == NAME_HASH_SIZE - 1 &&
               strspn(name + 2, "0123456789abcdef") == DIGITS;
}

void name_hash_of(const char *name, char ret[NAME_HASH_SIZE])
{
        uint8_t digest[SHA256_DIGEST_SIZE];

        if (name_hash_is(name)) {
                memcpy(ret, name, NAME_HASH_SIZE);
                return;
        }
        digest_of(KIND, name, digest);
        memcpy(ret, "h:", 2);
        base16_encode_update(ret + 2, DIGITS / 2, digest);
        ret[NAME_HASH_SIZE - 1] = '\0';
}

/* 16 digits, without the uppermost bit. */
static int64_t number_of(const char *digits)
{
        uint64_t number = 0;

        for (int i = 0; i < 16; i++)
                number = number << 4 | (uint64_t)(digits[i] <= '9' ? digits[i] - '0' : digits[i] - 'a' + 10);
        number &= INT64_MAX;
        return number ? (int64_t)number : 1;
}

int64_t name_hash_number(const char *name)
{
        char hash[NAME_HASH_SIZE];

        name_hash_of(name, hash);
        return number_of(hash + 2);
}

static void digits_of(const char *kind, const char *text, char ret[65])
{
        uint8_t digest[SHA256_DIGEST_SIZE];

        digest_of(kind, text, digest);
        base16_encode_update(ret, sizeof(digest), digest);
        ret[64] = '\0';
}

int64_t name_hash_number_of(const char *kind, const char *text)
{
        char digits[65];

        digits_of(kind, text, digits);
        return number_of(digits);
}

int64_t name_hash_client(const char *hex)
{
        return name_hash_number_of("joulecast-client:", hex);
}

void name_hash_digits(const char *text, char ret[65])
{
        digits_of("", text, ret);
}
