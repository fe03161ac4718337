/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Reads values of a window from a compositor's JSON. All functions accept NULL, and an object without the
 * key.
 */

#include <cjson/cJSON.h>
#include <stdint.h>
#include <sys/types.h>

int64_t json_number(const struct cJSON *object, const char *key); /* -1: no number, or negative */
pid_t json_pid(const struct cJSON *object);                       /* its "pid"; 0: none */
const char *json_text(const struct cJSON *object, const char *key); /* "": no string */
