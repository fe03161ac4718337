/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What a server answers, which may be anything. */

#include "place.h"

#define REPLY_MAX (8u << 20) /* bytes */

/* To an upload. 0; -ENOMEM; -EBADMSG: it is no such answer. @member gets the apps that may be named. */
int reply_to_upload(const char *text, struct member *member, struct place_receipt *ret);
/* To a wish to be forgotten. Likewise. */
int reply_to_forget(const char *text, const struct member *member, struct place_forgotten *ret);
/* Its sentence about an error, printable; "" none. */
void reply_error(const char *text, char *buf, size_t size);
