/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Two-sided quantiles, so that the shared library needs no GSL: 1.96 standard deviations at @level 0.95. */

double quantile_normal(double level);
double quantile_student_t(double degrees_of_freedom, double level);
