# filled by the install step
