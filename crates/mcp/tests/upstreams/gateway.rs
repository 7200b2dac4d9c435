pub fn cases() -> Vec<crate::cases::Case> {
    Vec::new()
}
