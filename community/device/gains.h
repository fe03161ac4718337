/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Measures the gain on this machine since its owner followed a suggestion. */

#include "findings.h"
#include "member.h"
#include "session.h"

/* Records the suggestions shown now; known ones are not added again. @own: the device of the findings. */
void gains_tell(struct member *member, const struct findings *findings, const struct findings_own *own, int64_t now_ns);

/*
 * Checks which suggestions were followed, and adds the drain rates since. Returns an exit code; @member is
 * changed but not written.
 */
int gains_follow(struct session *session, struct member *member);

/*
 * Records that the owner acted on a finding just now, and watches it from now on. Returns an exit code; @member is
 * changed but not written.
 */
int gains_act(struct session *session, struct member *member, const struct shown *shown, enum watch_act act);
