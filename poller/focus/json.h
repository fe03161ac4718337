/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Looks into JSON without building it: a compositor's tree is large, and of
 * each window we want three small values and never the title. All functions
 * accept NULL, and any bytes up to a NUL.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The value of @key in the object that begins at @object, or NULL. */
const char *json_get(const char *object, const char *key);
/* The first element of an array, and the one after; NULL at the end. */
const char *json_first(const char *array);
const char *json_next(const char *element);

bool json_is_object(const char *value);
bool json_is_true(const char *value);
bool json_int(const char *value, int64_t *ret);
/* Unescaped; cut where it does not fit. @buf is "" if the value is no string. */
bool json_string(const char *value, char *buf, size_t size);
