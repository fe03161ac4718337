/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Between D-Bus's types and the questions and answers of the socket (docs/dbus.md). */

#include "util/sd-bus.h"

/*
 * Appends an answer, one line of JSON, as a{sv}. A key whose value is unknown (null) is left out; a value with its
 * interval is (ddd), in which NaN is unknown. 0; -EBADMSG: it is no object; another negative errno.
 */
int dbus_answer_append(sd_bus_message *to, const char *json);

/* If @json is the answer for an error: replies it as org.joulecast1.Error.NAME with its sentence. 1: it was; 0: not; -errno. */
int dbus_answer_refuse(sd_bus_message *call, const char *json);

#define DBUS_ERROR "org.joulecast1.Error."
#define DBUS_SENTENCE_MAX 256

/*
 * The question that a call of Cost, Predict, Budget, Remaining, WhatIf, Advise or Apps asks. 0, and a line of JSON to free(); -EINVAL with a
 * sentence; -ENOMEM. Its values are checked where the question is read (question.h).
 */
int dbus_question(sd_bus_message *call, char **ret, char sentence[DBUS_SENTENCE_MAX]);
