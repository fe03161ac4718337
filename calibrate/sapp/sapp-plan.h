/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "run/plan.h"

/* SApp's own procedure, without components that the device lacks. -ENODATA: it shows no CPU. */
int sapp_plan_make(const struct hardware_description *description, struct plan *ret);
