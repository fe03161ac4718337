/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What was gained on this machine since its owner did what was told. */

#include "findings.h"
#include "member.h"
#include "session.h"

/* Remembers what is told now; what is told again is known already. @own: what the findings are of. */
void gains_tell(struct member *member, const struct findings *findings, const struct findings_own *own, int64_t now_ns);

/* Was it done, and how fast did the battery drain since? An exit code; @member is changed, and not written. */
int gains_follow(struct session *session, struct member *member);
