/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Converts between D-Bus types and the questions and answers of the socket (docs/dbus.md). */

#include "util/sd-bus.h"

/*
 * Appends an answer, one line of JSON, as a{sv}. A key with an unknown value (null) is left out; a value with
 * its interval is (ddd), in which NaN is unknown. Returns 0; -EBADMSG: it is no object; another negative
 * errno.
 */
int dbus_answer_append(sd_bus_message *to, const char *json);

/*
 * If @json is an error, replies with org.joulecast1.Error.NAME and its sentence. Returns 1 if it was, 0 if
 * not; or a negative errno.
 */
int dbus_answer_refuse(sd_bus_message *call, const char *json);

#define DBUS_ERROR "org.joulecast1.Error."
#define DBUS_SENTENCE_MAX 256

/*
 * Makes the question for a call of Cost, Predict, Budget, Remaining, WhatIf, Advise or Apps. Returns 0, and a
 * line of JSON to free(); -EINVAL with a sentence; -ENOMEM. The values are checked when the question is
 * parsed (question.h).
 */
int dbus_question(sd_bus_message *call, char **ret, char sentence[DBUS_SENTENCE_MAX]);
