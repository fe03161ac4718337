/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Which name an address has, by the answers that the app got from DNS. */

#include "record.h"

/*
 * The IPv4 addresses of a DNS message (RFC 1035) that is an answer, with the name that was asked for. Names
 * have ASCII letters, digits, "-", "_" and "." alone; what is longer than a record has place for is left
 * out. Their number, at most @n.
 */
size_t dns_answer(const uint8_t *bytes, size_t length, struct name_record *ret, size_t n);
