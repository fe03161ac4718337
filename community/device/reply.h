/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Parses responses of a server, which are untrusted. */

#include "place.h"

#define REPLY_MAX (8u << 20) /* bytes */

/*
 * Parses the response to an upload. Returns 0; -ENOMEM; -EBADMSG: it is no such response. @member gets the
 * apps that may be named.
 */
int reply_to_upload(const char *text, struct member *member, struct place_receipt *ret);
/* Parses the response to a request to forget. Returns as above. */
int reply_to_forget(const char *text, const struct member *member, struct place_forgotten *ret);
/* Copies the sentence of an error response, made printable; "": there is none. */
void reply_error(const char *text, char *buf, size_t size);
