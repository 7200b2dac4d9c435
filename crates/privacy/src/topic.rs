//! What words say about the text beside them.

/// What a value may be, or what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Topic {
    Phone,
    Ssn,
    Itin,
    NationalId,
    UkNhs,
    UkNino,
    German,
    French,
    Spanish,
    Italian,
    Dutch,
    Belgian,
    Polish,
    Swedish,
    Norwegian,
    Danish,
    Finnish,
    Austrian,
    Swiss,
    Portuguese,
    Irish,
    Czech,
    Romanian,
    Croatian,
    Bulgarian,
    Baltic,
    Turkish,
    Israeli,
    SouthAfrican,
    Brazilian,
    Mexican,
    Canadian,
    Indian,
    Australian,
    Singaporean,
    HongKong,
    Korean,
    Chinese,
    Japanese,
    Thai,
    Card,
    Routing,
    SortCode,
    Account,
    Ip,
    Mac,
    Birth,
    Address,
    Passport,
    License,
    Crypto,
    Password,
    Key,
    /// `Mr.`
    Title,
    Greeting,
    /// `my name is`: a name follows for certain.
    Named,
    /// `Customer:`: a name may follow.
    Labeled,
    Closing,
    Street,
    /// Says that a number is something else.
    Other,
    /// The same, of what has dots in it.
    Version,
    /// The same, of numbers that are short, and of messages about failures: whatever follows.
    Small,
}

pub const TOPICS: usize = Topic::Small as usize + 1;
